/**
 * The command line.
 *
 * <p>{@link dev.holdfast.server.cli.Main} knows the commands; {@code Settings} declares, reads and
 * checks everything that can be set; {@code Serve} is the server.
 */
@NullMarked
package dev.holdfast.server.cli;

import org.jspecify.annotations.NullMarked;
