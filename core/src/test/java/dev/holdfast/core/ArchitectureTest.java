package dev.holdfast.core;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import dev.holdfast.core.model.Message;
import dev.holdfast.core.path.Loop;
import dev.holdfast.core.port.Store;
import dev.holdfast.core.rules.RetrySchedule;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Calendar;
import java.util.Date;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.Timer;
import java.util.TimerTask;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JsonParser;

/** Which part may use what. The rules that forbid something are shown to catch it. */
class ArchitectureTest {
  private static final String FILTER = "dev.holdfast.core.filter..";
  private static final String MODEL = "dev.holdfast.core.model..";
  private static final String RULES = "dev.holdfast.core.rules..";
  private static final String PORT = "dev.holdfast.core.port..";
  private static final String PATH = "dev.holdfast.core.path..";
  private static final String OURS = "dev.holdfast..";

  /** Where the main classes are, the tests left out. */
  private static final Path MAIN = location(Message.class);

  private static final JavaClasses CORE = new ClassFileImporter().importPath(MAIN);

  private static final DescribedPredicate<JavaAccess<?>> READS_A_CLOCK =
      describe(
          "reads a clock",
          access -> {
            JavaClass owner = access.getTargetOwner();
            String name = access.getName();
            return (owner.getPackageName().startsWith("java.time") && name.equals("now"))
                || (owner.isEquivalentTo(System.class)
                    && (name.equals("currentTimeMillis") || name.equals("nanoTime")));
          });

  private static final ArchRule NOTHING_READS_A_CLOCK =
      noClasses()
          .should()
          .accessTargetWhere(READS_A_CLOCK)
          .orShould()
          .dependOnClassesThat(
              belongToAnyOf(Clock.class, InstantSource.class, Date.class, Calendar.class));

  private static final ArchRule NOTHING_USES_THREADS =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAPackage("java.util.concurrent..")
                  .or(
                      belongToAnyOf(
                          Thread.class, ThreadLocal.class, Timer.class, TimerTask.class)));

  private static final ArchRule NOTHING_DOES_INPUT_OR_OUTPUT =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "java.sql..",
                      "javax.sql..",
                      "java.net..",
                      "javax.net..",
                      "java.nio.file..",
                      "java.nio.channels..",
                      "io.netty..",
                      "io.vertx..")
                  .and(not(equivalentTo(URI.class)))
                  .and(not(equivalentTo(URISyntaxException.class))));

  private static final ArchRule NOTHING_DRAWS_A_NUMBER =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("java.util.random..", "java.security..")
                  .or(belongToAnyOf(Random.class, SplittableRandom.class)))
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(UUID.class, "randomUUID");

  private static final ArchRule ONLY_FILTERS_READ_JSON =
      noClasses()
          .that()
          .resideOutsideOfPackage(FILTER)
          .should()
          .dependOnClassesThat(resideInAnyPackage("tools.jackson..", "com.fasterxml.."));

  @Nested
  class Imported {

    @Test
    void every_class_file_is_imported() throws IOException {
      try (Stream<Path> files = Files.walk(MAIN)) {
        long classFiles =
            files
                .filter(file -> file.toString().endsWith(".class"))
                .filter(file -> !file.endsWith("module-info.class"))
                .count();
        assertThat(classFiles).isGreaterThan(50);
        assertThat(CORE).hasSize((int) classFiles);
      }
    }

    @Test
    void what_the_classes_do_is_imported_with_them() {
      for (Class<?> known :
          new Class<?>[] {Message.class, RetrySchedule.class, Store.class, Loop.class}) {
        assertThat(CORE.contain(known)).as(known.getName()).isTrue();
      }
      JavaClass schedule = CORE.get(RetrySchedule.class);
      assertThat(schedule.getMethodCallsFromSelf()).isNotEmpty();
      assertThat(schedule.getDirectDependenciesFromSelf()).isNotEmpty();
    }

    @Test
    void no_test_is_among_them() {
      assertThat(CORE.contain(ArchitectureTest.class)).isFalse();
    }
  }

  @Nested
  class Layers {

    @Test
    void filters_depend_on_nothing_of_ours() {
      dependsOnlyOn(FILTER, FILTER);
    }

    @Test
    void the_model_depends_on_filters_only() {
      dependsOnlyOn(MODEL, MODEL, FILTER);
    }

    @Test
    void the_rules_depend_on_the_model_only() {
      dependsOnlyOn(RULES, RULES, MODEL);
    }

    @Test
    void the_ports_depend_on_neither_rules_nor_path() {
      dependsOnlyOn(PORT, PORT, MODEL);
    }

    @Test
    void the_path_depends_on_filters_model_rules_and_ports_only() {
      dependsOnlyOn(PATH, PATH, FILTER, MODEL, RULES, PORT);
    }

    @Test
    void only_filters_read_json() {
      ONLY_FILTERS_READ_JSON.check(CORE);
    }

    @Test
    void every_class_belongs_to_a_layer() {
      classes().should().resideInAnyPackage(FILTER, MODEL, RULES, PORT, PATH).check(CORE);
    }

    private static void dependsOnlyOn(String layer, String... allowed) {
      noClasses()
          .that()
          .resideInAPackage(layer)
          .should()
          .dependOnClassesThat(resideInAPackage(OURS).and(not(resideInAnyPackage(allowed))))
          .check(CORE);
    }
  }

  @Nested
  class PureRules {

    @Test
    void the_rules_use_the_language_time_and_collections_only() {
      classes()
          .that()
          .resideInAPackage(RULES)
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              RULES,
              MODEL,
              "java.lang",
              "java.lang.runtime",
              "java.lang.invoke",
              "java.time..",
              "java.util",
              "java.util.function",
              "java.util.stream",
              "org.jspecify.annotations")
          .check(CORE);
    }

    @Test
    void the_rules_keep_nothing_that_changes() {
      fields()
          .that()
          .areDeclaredInClassesThat()
          .resideInAPackage(RULES)
          .should()
          .beFinal()
          .check(CORE);
    }

    @Test
    void the_rules_draw_no_number() {
      NOTHING_DRAWS_A_NUMBER.check(CORE.that(resideInAPackage(RULES)));
    }
  }

  @Nested
  class Outside {

    @Test
    void nothing_reads_a_clock() {
      NOTHING_READS_A_CLOCK.check(CORE);
    }

    @Test
    void nothing_uses_threads() {
      NOTHING_USES_THREADS.check(CORE);
    }

    @Test
    void nothing_does_input_or_output() {
      NOTHING_DOES_INPUT_OR_OUTPUT.check(CORE);
    }

    @Test
    void nothing_draws_a_number() {
      NOTHING_DRAWS_A_NUMBER.check(CORE);
    }
  }

  @Nested
  class Nullness {

    @Test
    void every_package_of_ours_is_null_marked() {
      Set<JavaPackage> packages = CORE.stream().map(JavaClass::getPackage).collect(toSet());
      assertThat(packages)
          .extracting(JavaPackage::getName)
          .contains(
              "dev.holdfast.core.model",
              "dev.holdfast.core.rules",
              "dev.holdfast.core.port",
              "dev.holdfast.core.path");
      assertThat(packages)
          .allSatisfy(
              each ->
                  assertThat(each.isAnnotatedWith(NullMarked.class)).as(each.getName()).isTrue());
    }
  }

  /** The rules against classes that break them, since a rule that cannot fail guards nothing. */
  @Nested
  class Breaches {

    @ParameterizedTest
    @ValueSource(
        classes = {
          ReadsTheInstant.class,
          ReadsTheDate.class,
          ReadsMillis.class,
          ReadsNanos.class,
          HoldsAClock.class,
          HoldsAnInstantSource.class,
        })
    void reading_a_clock_is_caught(Class<?> breach) {
      isCaught(NOTHING_READS_A_CLOCK, breach);
    }

    @ParameterizedTest
    @ValueSource(classes = {StartsAThread.class, HoldsALock.class})
    void using_threads_is_caught(Class<?> breach) {
      isCaught(NOTHING_USES_THREADS, breach);
    }

    @ParameterizedTest
    @ValueSource(classes = {HoldsAConnection.class, HoldsASocket.class})
    void input_and_output_is_caught(Class<?> breach) {
      isCaught(NOTHING_DOES_INPUT_OR_OUTPUT, breach);
    }

    @ParameterizedTest
    @ValueSource(classes = {DrawsANumber.class, DrawsAnId.class, HoldsARandom.class})
    void drawing_a_number_is_caught(Class<?> breach) {
      isCaught(NOTHING_DRAWS_A_NUMBER, breach);
    }

    @Test
    void reading_json_is_caught() {
      isCaught(ONLY_FILTERS_READ_JSON, ReadsJson.class);
    }

    @Test
    void a_rule_over_no_classes_fails() {
      JavaClasses none = new ClassFileImporter().importClasses();
      for (ArchRule rule :
          new ArchRule[] {
            NOTHING_READS_A_CLOCK,
            NOTHING_USES_THREADS,
            NOTHING_DOES_INPUT_OR_OUTPUT,
            NOTHING_DRAWS_A_NUMBER,
            ONLY_FILTERS_READ_JSON
          }) {
        assertThatThrownBy(() -> rule.check(none))
            .isInstanceOf(AssertionError.class)
            .hasMessageContaining("failed to check any classes");
      }
    }

    private static void isCaught(ArchRule rule, Class<?> breach) {
      JavaClasses imported = new ClassFileImporter().importClasses(breach);
      assertThat(imported).hasSize(1);
      assertThat(rule.evaluate(imported).hasViolation()).isTrue();
    }
  }

  record ReadsTheInstant() {
    Instant at() {
      return Instant.now();
    }
  }

  record ReadsTheDate() {
    LocalDate at() {
      return LocalDate.now(ZoneOffset.UTC);
    }
  }

  record ReadsMillis() {
    long at() {
      return System.currentTimeMillis();
    }
  }

  record ReadsNanos() {
    long at() {
      return System.nanoTime();
    }
  }

  record HoldsAClock(Clock clock) {}

  record HoldsAnInstantSource(InstantSource source) {}

  record StartsAThread() {
    void start() {
      Thread.ofVirtual().start(() -> {});
    }
  }

  record HoldsALock(ReentrantLock lock) {}

  record HoldsAConnection(Connection connection) {}

  record HoldsASocket(Socket socket) {}

  record DrawsANumber() {
    double draw() {
      return Math.random();
    }
  }

  record DrawsAnId() {
    UUID draw() {
      return UUID.randomUUID();
    }
  }

  record HoldsARandom(Random random) {}

  record ReadsJson(JsonParser parser) {}

  private static Path location(Class<?> type) {
    return Path.of(URI.create(type.getProtectionDomain().getCodeSource().getLocation().toString()));
  }
}
