/** Shows what the server does as traces, when there is somebody to send them to. */
@NullMarked
package dev.holdfast.server.tracing;

import org.jspecify.annotations.NullMarked;
