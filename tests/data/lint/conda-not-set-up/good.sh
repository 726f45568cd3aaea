#!/bin/bash
eval "$(conda shell.bash hook)"
conda activate torch
python train.py
