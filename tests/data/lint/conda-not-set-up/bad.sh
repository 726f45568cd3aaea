#!/bin/bash
conda activate torch
python train.py
