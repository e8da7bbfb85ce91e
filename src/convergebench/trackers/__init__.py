"""Experiment trackers (TensorBoard, MLflow, W&B): a run's study and results, told to one of them if asked for."""
