"""Classical restorers as editors: denoising, deblurring and scratch repair without learning, whatever the words say."""
