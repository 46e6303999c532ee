"""The colours that the chart and the timeline share."""

DIRECT, FOREBAY, COMPUTE, WRITE = "#c2410c", "#0f6fb8", "#475569", "#38a3d1"
TEXT, MUTED, FAINT = "#1f2937", "#6b7280", "#d1d5db"
