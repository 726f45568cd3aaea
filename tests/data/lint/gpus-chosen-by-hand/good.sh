#!/bin/bash
#SBATCH --gres=gpu:2
echo "$CUDA_VISIBLE_DEVICES"
CUDA_VISIBLE_DEVICES=0 python train.py &
wait $!
