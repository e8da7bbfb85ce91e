"""`gradio`: an app made with Gradio, on this machine, on a server or as a Hugging Face Space, as an editor."""
