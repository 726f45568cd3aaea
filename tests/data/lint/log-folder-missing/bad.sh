#!/bin/bash
#SBATCH --output=logs/%x-%j.out
mkdir -p logs
