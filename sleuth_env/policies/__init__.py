"""Policy files as players, with NumPy alone."""
