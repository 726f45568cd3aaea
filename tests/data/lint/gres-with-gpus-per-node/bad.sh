#!/bin/bash
#SBATCH --gpus-per-node=4
#SBATCH --gres=gpu:4
hostname
