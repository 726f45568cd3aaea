#!/bin/bash
#SBATCH --gres=gpu:4
#SBATCH --gpus-per-node=8
hostname
