"""The declarations of the headers, for ctypes, as written by scripts/declarations.py from include/forebay."""

from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p


class ScheduleQuestion(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("steps", c_int64),
        ("bytes_per_step", c_uint64),
        ("forward_seconds", c_double),
        ("adjoint_seconds", c_double),
        ("dram_budget", c_uint64),
        ("dram_write_seconds", c_double),
        ("dram_read_seconds", c_double),
        ("pool_budget", c_uint64),
        ("pool_write_seconds", c_double),
        ("pool_read_seconds", c_double),
        ("overlapped", c_int),
    ]


class ScheduleAnswer(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("store_all", c_int),
        ("dram_slots", c_int64),
        ("pool_slots", c_int64),
        ("forward_steps", c_int64),
        ("predicted_seconds", c_double),
    ]


class Action(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("n0", c_int64),
        ("n1", c_int64),
        ("keep_state", c_int),
        ("keep_dependencies", c_int),
        ("from_", c_int),
        ("to", c_int),
    ]


class EncodingInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("codec", c_int),
        ("accepted_error", c_double),
        ("achieved_error", c_double),
        ("states", c_uint64),
        ("raw_bytes", c_uint64),
        ("stored_bytes", c_uint64),
        ("fallbacks", c_uint64),
        ("fallback_reason", c_char_p),
        ("decoded_ahead", c_uint64),
    ]


class TierInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("medium", c_char_p),
        ("path", c_char_p),
        ("budget", c_uint64),
        ("segment_bytes", c_uint64),
        ("segments", c_uint64),
        ("prepared", c_uint64),
        ("used", c_uint64),
        ("moved_in", c_uint64),
        ("fetched", c_uint64),
    ]


class Array(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("location", c_char_p),
        ("type", c_int),
        ("components", c_uint32),
        ("plan", c_void_p),
        ("data", c_void_p),
    ]


class Head(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("step", c_int64),
        ("time", c_double),
        ("program", c_char_p),
        ("mesh", c_char_p),
    ]


class Mesh(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("points", c_void_p),
        ("places", c_void_p),
        ("cells", c_void_p),
        ("types", c_void_p),
        ("lengths", c_void_p),
        ("vertices", c_void_p),
    ]


# The functions of each library: their results and parameters.
FUNCTIONS = {
    "libforebay": {
        "forebay_options_create": (c_void_p, ()),
        "forebay_options_free": (None, (("options", c_void_p),)),
        "forebay_options_set": (
            c_int,
            (
                ("options", c_void_p),
                ("key", c_char_p),
                ("value", c_char_p),
            ),
        ),
        "forebay_options_set_integer": (
            c_int,
            (
                ("options", c_void_p),
                ("key", c_char_p),
                ("value", c_int64),
            ),
        ),
        "forebay_options_get": (
            c_char_p,
            (
                ("options", c_void_p),
                ("key", c_char_p),
            ),
        ),
        "forebay_options_check": (
            c_int,
            (
                ("options", c_void_p),
                ("user", c_char_p),
            ),
        ),
        "forebay_options_add_dram": (
            c_int,
            (
                ("options", c_void_p),
                ("bytes", c_uint64),
            ),
        ),
        "forebay_options_add_pool": (
            c_int,
            (
                ("options", c_void_p),
                ("directory", c_char_p),
                ("bytes", c_uint64),
            ),
        ),
        "forebay_options_add_shared": (
            c_int,
            (
                ("options", c_void_p),
                ("directory", c_char_p),
                ("bytes", c_uint64),
            ),
        ),
        "forebay_schedule_plan": (
            c_int,
            (
                ("question", POINTER(ScheduleQuestion)),
                ("answer", POINTER(ScheduleAnswer)),
            ),
        ),
        "forebay_schedule_create": (
            c_int,
            (
                ("steps", c_int64),
                ("dram_slots", c_int64),
                ("pool_slots", c_int64),
                ("schedule", POINTER(c_void_p)),
            ),
        ),
        "forebay_schedule_advance": (
            c_int,
            (
                ("schedule", c_void_p),
                ("action", POINTER(Action)),
            ),
        ),
        "forebay_schedule_free": (None, (("schedule", c_void_p),)),
        "forebay_status_get_name": (c_char_p, (("status", c_int),)),
        "forebay_error_get_text": (c_char_p, ()),
        "forebay_error_copy_text": (
            c_size_t,
            (
                ("buffer", c_void_p),
                ("bytes", c_size_t),
            ),
        ),
        "forebay_error_set": (
            c_int,
            (
                ("status", c_int),
                ("text", c_char_p),
            ),
        ),
        "forebay_trajectory_open": (
            c_int,
            (
                ("options", c_void_p),
                ("trajectory", POINTER(c_void_p)),
            ),
        ),
        "forebay_trajectory_close": (c_int, (("trajectory", c_void_p),)),
        "forebay_trajectory_declare": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("name", c_char_p),
                ("type", c_int),
                ("count", c_uint64),
                ("field", POINTER(c_int)),
            ),
        ),
        "forebay_trajectory_find_field": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("name", c_char_p),
                ("field", POINTER(c_int)),
            ),
        ),
        "forebay_trajectory_count_fields": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("fields", POINTER(c_int)),
            ),
        ),
        "forebay_trajectory_get_field": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("field", c_int),
                ("name", POINTER(c_char_p)),
                ("type", POINTER(c_int)),
                ("count", POINTER(c_uint64)),
            ),
        ),
        "forebay_trajectory_set_shape": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("field", c_int),
                ("dimensions", c_int),
                ("extents", c_void_p),
            ),
        ),
        "forebay_trajectory_get_shape": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("field", c_int),
                ("dimensions", POINTER(c_int)),
                ("extents", POINTER(c_uint64)),
            ),
        ),
        "forebay_trajectory_set_accepted_error": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("field", c_int),
                ("error", c_double),
            ),
        ),
        "forebay_trajectory_set_codec": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("field", c_int),
                ("codec", c_int),
            ),
        ),
        "forebay_trajectory_describe_encoding": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("field", c_int),
                ("info", POINTER(EncodingInfo)),
            ),
        ),
        "forebay_trajectory_begin": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("step", c_int64),
                ("time", c_double),
                ("memory", POINTER(c_void_p)),
                ("fields", c_int),
            ),
        ),
        "forebay_trajectory_commit": (c_int, (("trajectory", c_void_p),)),
        "forebay_trajectory_cancel": (c_int, (("trajectory", c_void_p),)),
        "forebay_trajectory_put": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("step", c_int64),
                ("time", c_double),
                ("memory", POINTER(c_void_p)),
                ("fields", c_int),
            ),
        ),
        "forebay_trajectory_get": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("step", c_int64),
                ("field", c_int),
                ("memory", POINTER(c_void_p)),
            ),
        ),
        "forebay_trajectory_release": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("step", c_int64),
            ),
        ),
        "forebay_trajectory_interpolate": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("time", c_double),
                ("field", c_int),
                ("memory", c_void_p),
            ),
        ),
        "forebay_trajectory_reverse": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("from", c_int64),
            ),
        ),
        "forebay_trajectory_drop": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("step", c_int64),
            ),
        ),
        "forebay_trajectory_move": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("step", c_int64),
                ("tier", c_int),
            ),
        ),
        "forebay_trajectory_rewind": (c_int, (("trajectory", c_void_p),)),
        "forebay_trajectory_get_capacity": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("states", POINTER(c_uint64)),
            ),
        ),
        "forebay_trajectory_count_steps": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("steps", POINTER(c_uint64)),
            ),
        ),
        "forebay_trajectory_get_step": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("position", c_uint64),
                ("step", POINTER(c_int64)),
                ("time", POINTER(c_double)),
            ),
        ),
        "forebay_trajectory_get_time": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("step", c_int64),
                ("time", POINTER(c_double)),
            ),
        ),
        "forebay_trajectory_keep": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("keep", c_int),
            ),
        ),
        "forebay_trajectory_get_recovery": (c_char_p, (("trajectory", c_void_p),)),
        "forebay_trajectory_copy_recovery": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("buffer", c_void_p),
                ("bytes", c_size_t),
                ("length", POINTER(c_size_t)),
            ),
        ),
        "forebay_trajectory_count_tiers": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("tiers", POINTER(c_int)),
            ),
        ),
        "forebay_trajectory_describe_tier": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("tier", c_int),
                ("info", POINTER(TierInfo)),
            ),
        ),
        "forebay_trajectory_get_waited": (
            c_int,
            (
                ("trajectory", c_void_p),
                ("begin", POINTER(c_double)),
                ("get", POINTER(c_double)),
            ),
        ),
        "forebay_version": (c_char_p, ()),
    },
    "libforebay_arrays": {
        "forebay_team_create_f": (
            c_int,
            (
                ("communicator", c_int),
                ("options", c_void_p),
                ("team", POINTER(c_void_p)),
            ),
        ),
        "forebay_team_agree": (
            c_int,
            (
                ("team", c_void_p),
                ("status", c_int),
                ("words", c_char_p),
            ),
        ),
        "forebay_team_free": (None, (("team", c_void_p),)),
        "forebay_plan_create": (
            c_int,
            (
                ("team", c_void_p),
                ("numbers", c_void_p),
                ("count", c_uint64),
                ("items", c_uint64),
                ("options", c_void_p),
                ("plan", POINTER(c_void_p)),
            ),
        ),
        "forebay_plan_free": (None, (("plan", c_void_p),)),
        "forebay_plan_get_block": (
            c_int,
            (
                ("plan", c_void_p),
                ("first", POINTER(c_uint64)),
                ("count", POINTER(c_uint64)),
            ),
        ),
        "forebay_plan_move_to_block": (
            c_int,
            (
                ("plan", c_void_p),
                ("items", c_void_p),
                ("item_bytes", c_size_t),
                ("block", c_void_p),
            ),
        ),
        "forebay_plan_move_from_block": (
            c_int,
            (
                ("plan", c_void_p),
                ("block", c_void_p),
                ("item_bytes", c_size_t),
                ("items", c_void_p),
            ),
        ),
        "forebay_plan_number_lists": (
            c_int,
            (
                ("items", c_void_p),
                ("lengths", c_void_p),
                ("ranges", POINTER(c_uint64)),
                ("values", POINTER(c_uint64)),
            ),
        ),
        "forebay_plan_create_lists": (
            c_int,
            (
                ("team", c_void_p),
                ("ranges", c_void_p),
                ("lists", c_uint64),
                ("values", c_uint64),
                ("options", c_void_p),
                ("plan", POINTER(c_void_p)),
            ),
        ),
        "forebay_checkpoints_open": (
            c_int,
            (
                ("team", c_void_p),
                ("directory", c_char_p),
                ("options", c_void_p),
                ("checkpoints", POINTER(c_void_p)),
            ),
        ),
        "forebay_checkpoints_close": (c_int, (("checkpoints", c_void_p),)),
        "forebay_checkpoints_write": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("name", c_char_p),
                ("head", POINTER(Head)),
                ("arrays", POINTER(Array)),
                ("count", c_int),
            ),
        ),
        "forebay_checkpoints_settle": (c_int, (("checkpoints", c_void_p),)),
        "forebay_checkpoints_prepare": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("arrays", POINTER(Array)),
                ("count", c_int),
            ),
        ),
        "forebay_checkpoints_read": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("name", c_char_p),
                ("mesh", c_char_p),
                ("arrays", POINTER(Array)),
                ("count", c_int),
                ("head", POINTER(Head)),
            ),
        ),
        "forebay_checkpoints_describe": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("name", c_char_p),
                ("head", POINTER(Head)),
                ("locations", POINTER(c_int)),
                ("arrays", POINTER(c_int)),
            ),
        ),
        "forebay_checkpoints_get_location": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("place", c_int),
                ("name", POINTER(c_char_p)),
                ("items", POINTER(c_uint64)),
            ),
        ),
        "forebay_checkpoints_get_array": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("place", c_int),
                ("array", POINTER(Array)),
            ),
        ),
        "forebay_checkpoints_count_recovered": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("count", POINTER(c_int)),
            ),
        ),
        "forebay_checkpoints_get_recovered": (
            c_int,
            (
                ("checkpoints", c_void_p),
                ("place", c_int),
                ("path", POINTER(c_char_p)),
                ("carried", POINTER(c_int)),
            ),
        ),
        "forebay_mesh_output_open": (
            c_int,
            (
                ("files", c_void_p),
                ("name", c_char_p),
                ("mesh", POINTER(Mesh)),
                ("output", POINTER(c_void_p)),
            ),
        ),
        "forebay_mesh_output_write": (
            c_int,
            (
                ("output", c_void_p),
                ("head", POINTER(Head)),
                ("arrays", POINTER(Array)),
                ("count", c_int),
            ),
        ),
        "forebay_mesh_output_settle": (c_int, (("output", c_void_p),)),
        "forebay_mesh_output_close": (c_int, (("output", c_void_p),)),
    },
}
