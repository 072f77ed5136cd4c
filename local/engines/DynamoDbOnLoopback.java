import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import java.net.InetSocketAddress;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.server.Server;

/**
 * Serves DynamoDB Local on one address. Its own ServerRunner opens the port on all interfaces and
 * has no option for the address. Arguments: address, port, and the folder of the data; without a
 * folder the data is in memory. It behaves as ServerRunner with -sharedDb and -disableTelemetry.
 */
public final class DynamoDbOnLoopback {
  // Held here: the log manager keeps a logger, and its level, only as long as somebody else does.
  private static final Logger SQLITE = Logger.getLogger("com.almworks.sqlite4java");

  private DynamoDbOnLoopback() {}

  public static void main(String[] arguments) throws Exception {
    SQLITE.setLevel(Level.WARNING);
    var address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    var folder = arguments.length > 2 ? arguments[2] : null;
    var requests = new LocalDynamoDBRequestHandler(0, folder == null, folder, true, false);
    var server = new Server(address);
    server.setHandler(new LocalDynamoDBServerHandler(requests, null));
    server.start();
    server.join();
  }
}
