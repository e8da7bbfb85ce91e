"""The columns of the factory's tables: `sft`, `preference`, `multi_turn`, and those without pictures beside them."""

from __future__ import annotations

from convergebench.datasets.fields import Field, Table, columns
from convergebench.studies.factory_table import CRITERIA

PLACE = columns(
    "text",
    id="the row: editor/image/type/run, then the subset",
    chain_id="id of the chain, shared by all its rows",
    case_id="image/type/run, the same for all editors",
    image_name="the source image's name in its suite",
    editor="the editor's name in the study",
)
ASKED = (
    *columns("text", prompt="the instruction that the editor read", short_prompt="the same in a few words; null: none"),
    *columns("text", edit_type_id="the edit type", edit_type="its name in Pico-Banana-400K", category="its category"),
)
RIGHTS = columns(
    "text",
    split="all rows made from one source image are in one split",
    source_address="where the source image comes from",
    source_credit="the credit line that its licence requires",
    source_licence="the source image's own licence",
    source_sha256="of the untouched source file",
    licence="of the edited images of this row",
)
MADE = columns(
    "text",
    model_id="the model that the editor reported",
    editor_fingerprint="identifies the editor with its options",
    judge="fingerprint of the judge",
    judge_model="the model that the judge reported",
    writer_model="the model that the writer reported",
    rewriter_model="the model that the rewriter reported",
)
JUDGED = (
    *columns("number", score="the judge's weighted mean, 0 to 1", **dict.fromkeys(CRITERIA, "a criterion, 0 to 1")),
    *columns("number", spread="standard deviation between repeated judgements; null: judged once"),
    *columns("text", reason="the judge's words"),
)
PAID = columns("number", cost="dollars for this turn: all its attempts, and the replies that its decisions name")
IMAGE = Field("image", "image", "the image to edit; null: its licence forbids redistribution, see source_address")

SFT = Table(
    "sft",
    (
        *PLACE,
        *ASKED,
        IMAGE,
        Field("edited_image", "image", "the accepted edit"),
        *JUDGED,
        *columns("integer", attempt="which attempt was accepted, from 1", seed="null: the editor takes none"),
        *columns("text", sha256="of the file of the edited image", step_key="hash of the step's history"),
        *columns("text", parent_step_key="of the image before it"),
        *PAID,
        *MADE,
        *RIGHTS,
    ),
    what="one accepted edit per row: the source, the instruction, the edit",
)
PREFERENCE = Table(
    "preference",
    (
        *PLACE,
        *ASKED,
        IMAGE,
        Field("chosen", "image", "the accepted edit"),
        Field("rejected", "image", "an earlier attempt that was not accepted"),
        *columns("integer", turn="1, or a later turn of a session, where `image` is the turn before"),
        *columns("number", chosen_score="the judge's", rejected_score="the judge's"),
        *columns("number", margin="chosen_score minus rejected_score", chosen_wins="preference for the chosen image "
            "in the judge's direct comparison, mean of both orders; null: not asked"),
        *columns("text", chosen_reason="the judge's words", rejected_reason="the judge's words"),
        *columns("integer", chosen_attempt="from 1", rejected_attempt="from 1"),
        *columns("integer", chosen_seed="null: none", rejected_seed="null: none"),
        *columns("text", chosen_sha256="of its file", rejected_sha256="of its file"),
        *columns("text", chosen_step_key="hash of the step's history", rejected_step_key="hash of the step's history"),
        *PAID,
        *MADE,
        *RIGHTS,
    ),
    what="one pair per row: the image before, the instruction, the accepted edit and a rejected one",
)  # fmt: skip
MULTI_TURN = Table(
    "multi_turn",
    (
        *PLACE,
        IMAGE,
        Field("turns", "images", "the accepted image of every turn, in order"),
        *columns("texts", prompts="the instruction of every turn", short_prompts="the same in a few words"),
        *columns("texts", edit_type_ids="the edit type of every turn", edit_types="their names in Pico-Banana-400K"),
        *columns("values", scores="the judge's score of every turn"),
        *columns("texts", reasons="the judge's words, turn by turn"),
        *columns("values", attempts="which attempt was accepted, turn by turn"),
        *columns("texts", turn_sha256="of every turn's file", step_keys="hash of every step's history"),
        *columns("number", cost="dollars for all turns"),
        *MADE,
        *RIGHTS,
    ),
    what="one whole session per row: the source, and every turn's instruction and image",
)
ATTEMPTS = Table(
    "attempts",
    (
        *columns("text", chain_id="the chain", edit_type="id of the edit type"),
        *columns("integer", turn="from 1", attempt="from 1", step_index="the step of the chain"),
        *columns("flag", accepted="whether the score was above the threshold"),
        *columns("text", refused="the editor's words, where it refused"),
        *JUDGED,
        *columns("text", step_key="hash of the step's history"),
    ),
    what="every attempt with its judgement, including images that are in no row: for other thresholds and weights",
)
BY_REFERENCE = Table(
    "by_reference",
    (
        *columns("text", chain_id="the chain", subset="sft, preference or multi_turn", edit_type="ids, turn by turn"),
        *columns("text", prompts="JSON: the instruction of every turn"),
        *columns("text", source_address="where the source image comes from", source_sha256="of its file"),
        *columns("text", source_licence="why there is no image", source_credit="who made it"),
        *columns("text", chosen_sha256="JSON: of the accepted images", rejected_sha256="JSON: of the rejected ones"),
    ),
    what="rows whose images are left out because of the source's licence: only addresses, instructions and hashes",
)
TABLES = (SFT, PREFERENCE, MULTI_TURN)
