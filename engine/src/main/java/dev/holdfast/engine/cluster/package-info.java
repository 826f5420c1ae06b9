/**
 * Several nodes on one database: who takes part, who decides for which shards, and how nodes hear
 * of each other. Everything goes through the database; nodes never talk to each other directly.
 */
@NullMarked
package dev.holdfast.engine.cluster;

import org.jspecify.annotations.NullMarked;
