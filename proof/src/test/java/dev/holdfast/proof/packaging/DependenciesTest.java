package dev.holdfast.proof.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the program depends on is written down: with a reason for people, and as a list for tools.
 */
class DependenciesTest {
  private static final Path ROOT = Path.of("..");

  /** Libraries that only tests use, and that no user gets. */
  private static final Set<String> FOR_TESTS =
      Set.of("junit-jupiter", "assertj-core", "archunit", "standardwebhooks", "svix", "playwright");

  private record Dependency(String artifact, boolean isOwn) {}

  private static List<Dependency> dependencies(Path pom) throws Exception {
    Element project =
        DocumentBuilderFactory.newDefaultInstance()
            .newDocumentBuilder()
            .parse(pom.toFile())
            .getDocumentElement();
    List<Dependency> found = new ArrayList<>();
    NodeList all = project.getElementsByTagName("dependency");
    for (int i = 0; i < all.getLength(); i++) {
      Element dependency = (Element) all.item(i);
      if (dependency.getParentNode().getParentNode().isSameNode(project)) {
        found.add(
            new Dependency(
                text(dependency, "artifactId"),
                text(dependency, "groupId").equals("dev.holdfast")));
      }
    }
    return found;
  }

  private static String text(Element element, String name) {
    return element.getElementsByTagName(name).item(0).getTextContent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"pom.xml", "core/pom.xml", "engine/pom.xml", "server/pom.xml", "proof/pom.xml"})
  void each_has_a_reason(String pom) throws Exception {
    String reasons = Files.readString(ROOT.resolve("docs/decisions/0005-dependencies.md"));
    List<Dependency> dependencies = dependencies(ROOT.resolve(pom));
    assertThat(dependencies).isNotEmpty();
    for (Dependency dependency : dependencies) {
      if (!dependency.isOwn()) {
        assertThat(reasons).contains("`" + dependency.artifact() + "`");
      }
    }
  }

  @Test
  void the_bill_of_materials_names_all_that_runs_and_nothing_that_only_tests() throws Exception {
    JsonNode bill = bill();
    assertThat(bill.path("bomFormat").stringValue()).isEqualTo("CycloneDX");
    assertThat(bill.path("metadata").path("component").path("name").stringValue())
        .isEqualTo("holdfast-server");
    Set<String> named = new TreeSet<>();
    for (JsonNode component : bill.path("components")) {
      named.add(component.path("name").stringValue());
      assertThat(component.path("version").stringValue()).as("%s", component).isNotEmpty();
      assertThat(component.path("licenses").isEmpty()).as("%s", component).isFalse();
      assertThat(component.path("purl").stringValue()).startsWith("pkg:maven/");
      if (!component.path("group").stringValue().equals("dev.holdfast")) {
        assertThat(component.path("hashes").isEmpty()).as("%s", component).isFalse();
      }
    }
    assertThat(named)
        .contains("holdfast-core", "holdfast-engine", "vertx-core", "sqlite-jdbc", "netty-handler")
        .doesNotContainAnyElementsOf(FOR_TESTS);
  }

  private static JsonNode bill() throws Exception {
    try (InputStream bill =
        DependenciesTest.class.getResourceAsStream("/META-INF/sbom/holdfast.cdx.json")) {
      assumeTrue(bill != null, "the server was not packed, as ./verify does, so it has no bill");
      return new JsonMapper().readTree(Objects.requireNonNull(bill));
    }
  }
}
