import java.util.List;
import java.util.regex.Pattern;

/** The rules of local/foreign.py, for engines on a JVM: who may send requests to their ports. */
public final class Loopback {
  private static final String OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
  private static final String AUTHORITY =
      "(?:localhost\\.?|127(?:\\." + OCTET + "){3}\\.?|\\[::1\\])(?::[0-9]{1,5})?";
  private static final Pattern HOST = Pattern.compile(AUTHORITY, Pattern.CASE_INSENSITIVE);
  private static final Pattern TARGET =
      Pattern.compile(
          "/.*|\\*|http://" + AUTHORITY + "(?:[/?].*)?",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final List<String> OWN_SITES = List.of("none", "same-origin");

  private Loopback() {}

  /** Returns why a request is refused, null if it is not. */
  public static String refusal(
      String target, List<String> hosts, List<String> origins, List<String> sites) {
    if (hosts.size() != 1 || !HOST.matcher(hosts.get(0)).matches()) {
      return "Host: not an address of this machine";
    }
    if (!TARGET.matcher(target).matches()) {
      return "request target: not an address of this machine";
    }
    if (!origins.isEmpty()) {
      var own = "http://" + hosts.get(0).toLowerCase(java.util.Locale.ROOT);
      return origins.equals(List.of(own)) ? null : "Origin: not allowed here";
    }
    return OWN_SITES.containsAll(sites)
        ? null
        : "Sec-Fetch-Site: pages of other sites are not allowed here";
  }
}
