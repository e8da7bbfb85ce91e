"""Rubrics: what is asked about pictures, and how a reply must look. Who answers is a role's business."""
