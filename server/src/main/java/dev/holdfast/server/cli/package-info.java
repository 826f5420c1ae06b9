/**
 * The command line.
 *
 * <p>{@link dev.holdfast.server.cli.Main} knows the commands; {@code Settings} declares, reads and
 * checks everything that can be set; {@code Serve} is the server.
 *
 * <p>Commands that ask a running server take {@code ClientOptions}, ask through {@code ApiClient}
 * and print {@code Table}s, or the API's own JSON. What goes wrong is a {@code CommandFailed},
 * which says what to do. {@code Surroundings} is the world around them.
 */
@NullMarked
package dev.holdfast.server.cli;

import org.jspecify.annotations.NullMarked;
