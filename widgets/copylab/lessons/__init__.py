"""The predictions and exercises of the lessons, one module for each lesson that has some."""
