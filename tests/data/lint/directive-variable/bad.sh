#!/bin/bash
#SBATCH --output=$HOME/train.out
hostname
