#!/bin/bash
export HF_TOKEN=hf_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zZcC
srun python train.py
