#!/bin/bash
export CUDA_LAUNCH_BLOCKING=0
srun python train.py
