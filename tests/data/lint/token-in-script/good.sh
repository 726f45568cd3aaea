#!/bin/bash
export HF_TOKEN=$(cat ~/.hf_token)
export OTHER=hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
srun python train.py
