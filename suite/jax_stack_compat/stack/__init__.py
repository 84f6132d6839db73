"""The stacks to run: releases, matrix, plan and locks."""
