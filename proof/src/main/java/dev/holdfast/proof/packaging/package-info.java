/** Makes what Holdfast is installed from: {@link dev.holdfast.proof.packaging.PackageJar}. */
@NullMarked
package dev.holdfast.proof.packaging;

import org.jspecify.annotations.NullMarked;
