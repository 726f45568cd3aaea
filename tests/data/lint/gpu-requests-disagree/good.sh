#!/bin/bash
#SBATCH --gres=gpu:8
#SBATCH --gpus-per-node=8
hostname
