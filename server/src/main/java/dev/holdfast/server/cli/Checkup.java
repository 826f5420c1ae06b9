package dev.holdfast.server.cli;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import dev.holdfast.core.port.StoreException;
import dev.holdfast.engine.store.StoreCheck;
import dev.holdfast.engine.store.StoreRefused;
import dev.holdfast.engine.store.postgres.BesideNodes;
import dev.holdfast.engine.store.postgres.Connections;
import dev.holdfast.engine.store.postgres.PostgresOptions;
import dev.holdfast.engine.store.postgres.Rights;
import dev.holdfast.engine.store.postgres.Schema;
import dev.holdfast.engine.vault.KeyFile;
import dev.holdfast.engine.vault.KeysRefused;
import dev.holdfast.engine.vault.MasterKeySource;
import dev.holdfast.engine.vault.MasterKeys;
import dev.holdfast.server.api.ServerIdentity;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Looks at the machine that a server with these settings would run on. */
final class Checkup {
  private static final int JAVA = 25;

  private static final long SMALL_HEAP = 256L << 20;
  private static final double LARGE_HEAP_SHARE = 0.8;

  /** Acceptance stops when less than this is left. */
  private static final long DISK_RESERVE = 256L << 20;

  private static final long LITTLE_DISK = 2L << 30;

  /** Connections of callers, attempts under way and the store's files. */
  private static final long ENOUGH_FILES = 16_384;

  private static final int SYNCS = 40;
  private static final int SYNC_BYTES = 8 << 10;
  private static final Duration LONGEST_MEASUREMENT = Duration.ofSeconds(3);

  /** An acceptance waits for one; more than that is felt by every caller. */
  private static final Duration SLOW_SYNC = Duration.ofMillis(10);

  private static final Duration FAST_SYNC = Duration.ofMillis(2);

  private static final Set<String> REMOTE =
      Set.of("nfs", "nfs4", "cifs", "smb2", "smb3", "9p", "afs", "ceph", "fuse.sshfs");

  private static final Duration CLOCK_STEP = Duration.ofMillis(250);

  private final Settings settings;
  private final Path data;

  Checkup(Settings settings) {
    this.settings = settings;
    this.data = settings.get(Settings.DATA);
  }

  List<Finding> findings() {
    long wallStart = System.currentTimeMillis();
    long steadyStart = System.nanoTime();
    List<Finding> findings = new ArrayList<>();
    findings.add(java());
    findings.add(memory());
    findings.add(files());
    PostgresOptions database = settings.database().orElse(null);
    if (database == null) {
      findings.addAll(disk());
      findings.addAll(serverAndStore());
      findings.add(secrets());
    } else {
      findings.add(server(answers()));
      findings.addAll(database(database));
    }
    findings.addAll(
        clock(
            System.currentTimeMillis() - wallStart, (System.nanoTime() - steadyStart) / 1_000_000));
    return findings;
  }

  private static Finding java() {
    String what =
        "Java %s, %s".formatted(Runtime.version(), System.getProperty("java.vendor", "unknown"));
    return Runtime.version().feature() == JAVA
        ? Finding.ok("java", what)
        : Finding.warning(
            "java", what + ": not the one this is tested with", "Use a JDK or JRE " + JAVA + ".");
  }

  private static Finding memory() {
    long heap = Runtime.getRuntime().maxMemory();
    long machine =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    String what = "a heap of up to %s, and %s of memory".formatted(bytes(heap), bytes(machine));
    if (heap < SMALL_HEAP) {
      return Finding.warning(
          "memory", what, "Give it more with HOLDFAST_JAVA_OPTS=-Xmx512m: that is little.");
    }
    if (heap > machine * LARGE_HEAP_SHARE) {
      return Finding.warning(
          "memory",
          what + ": too little is left for the system's cache and for buffers",
          "Lower it with HOLDFAST_JAVA_OPTS=-Xmx%dm."
              .formatted(Math.max(256, (machine / 2) >> 20)));
    }
    return Finding.ok("memory", what);
  }

  private static Finding files() {
    if (!(ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix)) {
      return Finding.unchecked("files", "this system does not say how many files may be open");
    }
    long most = unix.getMaxFileDescriptorCount();
    String what = String.format(Locale.ROOT, "%,d files and connections may be open", most);
    return most >= ENOUGH_FILES
        ? Finding.ok("files", what)
        : Finding.warning(
            "files",
            what + ": few for many callers and endpoints at once",
            "Raise it: ulimit -n 65536, or LimitNOFILE=65536 in a systemd unit.");
  }

  private List<Finding> disk() {
    Path place = existing(data.toAbsolutePath().normalize());
    List<Finding> findings = new ArrayList<>();
    try {
      FileStore disk = Files.getFileStore(place);
      findings.add(kind(disk, place));
      findings.add(room(disk, place));
    } catch (IOException e) {
      findings.add(Finding.unchecked("disk", "nothing is known about " + place + ": " + e));
    }
    findings.add(sync(place));
    return findings;
  }

  /** The directory, or the one that it would be made in. */
  private static Path existing(Path directory) {
    Path place = directory;
    while (!Files.isDirectory(place) && place.getParent() != null) {
      place = place.getParent();
    }
    return place;
  }

  private static Finding kind(FileStore disk, Path place) {
    String type = disk.type().toLowerCase(Locale.ROOT);
    if (REMOTE.contains(type)) {
      return Finding.problem(
          "disk",
          place + " is on a network file system (" + type + "), which the store cannot rely on",
          "Name a directory on a local disk with --data.");
    }
    if (type.equals("tmpfs") || type.equals("ramfs")) {
      return Finding.warning(
          "disk",
          place + " is in memory (" + type + "): it is lost when the machine restarts",
          "Name a directory on a disk with --data.");
    }
    return Finding.ok("disk", "%s is on %s (%s)".formatted(place, disk.name(), type));
  }

  private static Finding room(FileStore disk, Path place) throws IOException {
    long left = disk.getUsableSpace();
    String what = bytes(left) + " left on the disk of " + place;
    if (left < DISK_RESERVE) {
      return Finding.problem(
          "room",
          what + ": events are refused when less than " + bytes(DISK_RESERVE) + " is left",
          "Make room, or name a directory on another disk with --data.");
    }
    return left < LITTLE_DISK
        ? Finding.warning(
            "room", what + ": little", "Make room; events are kept for the time of retention.")
        : Finding.ok("room", what);
  }

  private static Finding sync(Path place) {
    Path probe = null;
    try {
      probe = Files.createTempFile(place, "holdfast-doctor", ".tmp");
      Duration median = medianSync(probe);
      String what = "an fsync takes " + millis(median);
      if (median.compareTo(SLOW_SYNC) > 0) {
        return Finding.warning(
            "fsync",
            what + " (good is below " + millis(FAST_SYNC) + "): every acceptance waits for one",
            "Use a faster disk: an SSD, best one with power-loss protection.");
      }
      return Finding.ok(
          "fsync",
          median.compareTo(FAST_SYNC) <= 0
              ? what + ", which is good"
              : what + ", which will do (good is below " + millis(FAST_SYNC) + ")");
    } catch (IOException e) {
      return Finding.problem(
          "fsync",
          "nothing can be written in " + place + ": " + e.getMessage(),
          "Let this user write there, or name another directory with --data.");
    } finally {
      remove(probe);
    }
  }

  private static void remove(@Nullable Path probe) {
    try {
      if (probe != null) {
        Files.deleteIfExists(probe);
      }
    } catch (IOException e) {
      probe.toFile().deleteOnExit();
    }
  }

  private static Duration medianSync(Path file) throws IOException {
    long[] times = new long[SYNCS];
    int done = 0;
    long start = System.nanoTime();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      while (done < SYNCS && System.nanoTime() - start < LONGEST_MEASUREMENT.toNanos()) {
        long before = System.nanoTime();
        channel.write(ByteBuffer.allocate(SYNC_BYTES));
        channel.force(false);
        times[done++] = System.nanoTime() - before;
      }
    }
    Arrays.sort(times, 0, done);
    return Duration.ofNanos(times[done / 2]);
  }

  private List<Finding> serverAndStore() {
    boolean answers = answers();
    List<Finding> findings = new ArrayList<>();
    findings.add(server(answers));
    findings.add(store(answers));
    return findings;
  }

  private URI address() {
    String host = settings.get(Settings.SERVER_HOST);
    String reachable = host.equals("0.0.0.0") || host.equals("::") ? "127.0.0.1" : host;
    return URI.create(
        "%s://%s:%d"
            .formatted(
                settings.isEncrypted() ? "https" : "http",
                reachable.contains(":") ? "[" + reachable + "]" : reachable,
                settings.get(Settings.SERVER_PORT)));
  }

  private boolean answers() {
    if (settings.get(Settings.SERVER_PORT) == 0) {
      return false;
    }
    try (ApiClient api = new ApiClient(address(), null, null, trust())) {
      ApiClient.Answer answer = api.send("GET", "/health/ready", new byte[0]);
      Item item = Item.read(answer.text());
      return answer.status() == 200 && item != null && item.text("status").equals("ready");
    } catch (CommandFailed e) {
      return false;
    }
  }

  /** Its own certificate is enough: it may be for another name than the one asked here. */
  private @Nullable SSLContext trust() throws CommandFailed {
    Path certificate = settings.get(Settings.SERVER_TLS_CERTIFICATE).orElse(null);
    Path key = settings.get(Settings.SERVER_TLS_KEY).orElse(null);
    if (certificate == null || key == null) {
      return null;
    }
    try {
      return Trust.only(ServerIdentity.read(certificate, key).certificate());
    } catch (ServerIdentity.Unusable e) {
      throw new CommandFailed(String.valueOf(e.getMessage()));
    }
  }

  private Finding server(boolean answers) {
    int port = settings.get(Settings.SERVER_PORT);
    if (answers) {
      return Finding.ok("server", "one is running and ready at " + address());
    }
    String host = settings.get(Settings.SERVER_HOST);
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName(host))) {
      return Finding.ok(
          "server",
          "none is running; port %d on %s is free".formatted(socket.getLocalPort(), host));
    } catch (IOException e) {
      return Finding.problem(
          "server",
          "no server is ready, and port %d on %s cannot be used: %s"
              .formatted(port, host, e.getMessage()),
          "End what uses it, or choose another with --port.");
    }
  }

  private Finding store(boolean serverAnswers) {
    if (!StoreCheck.isThere(data)) {
      return Finding.ok("store", "there is none in " + data + " yet; the first start makes it");
    }
    try {
      long size = StoreCheck.glance(data);
      return Finding.ok(
          "store",
          "%s in %s; no damage at a first look (./holdfast check reads everything)"
              .formatted(bytes(size), data));
    } catch (StoreRefused e) {
      if (!e.isInUse()) {
        return Finding.problem(
            "store", String.valueOf(e.getMessage()), "Do what it says before a server starts.");
      }
      return serverAnswers
          ? Finding.ok(
              "store", data + " is in use, and the server at " + address() + " says it is ready")
          : Finding.problem(
              "store",
              data + " is in use by a server that does not answer at " + address(),
              "Name its address with --port and --set server.host=…, or look at its log.");
    }
  }

  /** Whether servers could share a database, and a server here could open what is sealed in it. */
  private List<Finding> database(PostgresOptions options) {
    try (Connections connections = new Connections(options)) {
      connections.reach();
      int version = Schema.version(connections);
      Rights.check(connections);
      if (version == 0) {
        return List.of(
            Finding.ok("store", options.place() + " has no tables yet; the first start makes them"),
            secrets());
      }
      Schema.check(connections);
      return List.of(
          Finding.ok(
              "store",
              "%s can be reached, and its tables are of version %d, as this program needs them"
                  .formatted(options.place(), version)),
          sealed(options));
    } catch (StoreRefused | StoreException e) {
      return List.of(
          Finding.problem(
              "store", String.valueOf(e.getMessage()), "Do what it says before a server starts."));
    }
  }

  private Finding sealed(PostgresOptions options) {
    MasterKeySource source = settings.masterKeys();
    if (source instanceof KeyFile file && file.isReadableByOthers()) {
      return secrets();
    }
    try (BesideNodes store = BesideNodes.open(options)) {
      return Finding.ok(
          "secrets",
          "sealed under the master key %s, which is in %s"
              .formatted(store.vault(source).shown().id(), source.where()));
    } catch (StoreRefused | StoreException e) {
      return Finding.problem(
          "secrets", String.valueOf(e.getMessage()), "Do what it says before a server starts.");
    }
  }

  /** The key is looked for where a server would; whether it is the store's, its start tells. */
  private Finding secrets() {
    MasterKeySource source = settings.masterKeys();
    try {
      Optional<MasterKeys> keys = source.read();
      if (keys.isEmpty()) {
        return StoreCheck.isThere(data)
            ? Finding.warning(
                "secrets",
                "there is no master key in " + source.where(),
                "If the store has secrets, put the file with their key there; a server does not start without it.")
            : Finding.ok(
                "secrets",
                "there is no master key in " + source.where() + " yet; the first start makes it");
      }
      if (source instanceof KeyFile file && file.isReadableByOthers()) {
        return Finding.warning(
            "secrets",
            "others can read the master key in " + file.path(),
            "chmod 600 " + file.path());
      }
      return Finding.ok("secrets", keys.get().toString());
    } catch (KeysRefused e) {
      return Finding.problem(
          "secrets", String.valueOf(e.getMessage()), "Do what it says before a server starts.");
    }
  }

  private static List<Finding> clock(long wallMillis, long steadyMillis) {
    List<Finding> findings = new ArrayList<>();
    if (Math.abs(wallMillis - steadyMillis) > CLOCK_STEP.toMillis()) {
      findings.add(
          Finding.warning(
              "clock",
              "the time of day jumped by %d ms in %d ms"
                  .formatted(wallMillis - steadyMillis, steadyMillis),
              "Let one service set the clock, slowly: chrony or systemd-timesyncd."));
    } else {
      findings.add(
          Finding.ok("clock", "it ran evenly for the %d ms of this check".formatted(steadyMillis)));
    }
    findings.add(
        Files.exists(Path.of("/run/systemd/timesync/synchronized"))
            ? Finding.ok("clock", "systemd-timesyncd says that it is synchronised")
            : Finding.unchecked(
                "clock", "whether it is synchronised; see timedatectl or chronyc tracking"));
    return findings;
  }

  private static String millis(Duration time) {
    return String.format(Locale.ROOT, "%.2f ms", time.toNanos() / 1e6);
  }

  private static String bytes(long bytes) {
    return bytes < 1L << 30
        ? String.format(Locale.ROOT, "%,d MB", bytes >> 20)
        : String.format(Locale.ROOT, "%,.1f GB", (double) bytes / (1L << 30));
  }
}
