/* See ggml.h. */
#include "ggml.h"
