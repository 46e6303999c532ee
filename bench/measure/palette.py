"""The colours that all pictures share."""

DIRECT, FOREBAY, COMPUTE, WRITE = "#c2410c", "#0f6fb8", "#475569", "#38a3d1"
TEXT, MUTED, FAINT = "#1f2937", "#6b7280", "#d1d5db"
SERIES = ("#0f6fb8", "#c2410c", "#047857", "#7c3aed", "#b45309", "#475569")
