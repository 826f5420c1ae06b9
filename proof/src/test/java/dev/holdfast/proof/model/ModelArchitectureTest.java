package dev.holdfast.proof.model;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

class ModelArchitectureTest {

  @Test
  void the_model_knows_nothing_of_how_the_engine_decides() {
    noClasses()
        .that()
        .resideInAPackage("dev.holdfast.proof.model..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "dev.holdfast.core.rules..", "dev.holdfast.core.path..", "dev.holdfast.engine..")
        .check(new ClassFileImporter().importPackages("dev.holdfast.proof.model"));
  }
}
