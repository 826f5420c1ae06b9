/**
 * The files of the dashboard: one page, and the scripts and styles that make it any of the pages
 * that it knows.
 *
 * <p>They are static and the same for everybody. What they show comes from the HTTP interface, by
 * the same calls that everybody else uses. The scripts are ES modules that browsers run as they
 * are; nothing is generated.
 */
@NullMarked
package dev.holdfast.server.pages;

import org.jspecify.annotations.NullMarked;
