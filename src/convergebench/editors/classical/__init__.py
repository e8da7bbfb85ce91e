"""Classical restorers as editors: denoising, deblurring and scratch repair, not learned; they ignore instructions."""
