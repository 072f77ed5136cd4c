import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;

/**
 * Serves DynamoDB Local on one address. Its own ServerRunner opens the port on all interfaces and
 * has no option for the address. Arguments: address, port, and the folder of the data; without a
 * folder the data is in memory. It behaves as ServerRunner with -sharedDb and -disableTelemetry, behind the rules of Loopback.
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
    server.setHandler(new Guarded(new LocalDynamoDBServerHandler(requests, null)));
    server.start();
    server.join();
  }

  /** Without it, a page that a developer visits could read and write all tables. */
  private static final class Guarded extends Handler.Wrapper {
    Guarded(Handler handler) {
      super(handler);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      var headers = request.getHeaders();
      var fact =
          Loopback.refusal(
              request.getHttpURI().asString(),
              headers.getValuesList("Host"),
              headers.getValuesList("Origin"),
              headers.getValuesList("Sec-Fetch-Site"));
      if (fact == null) {
        return super.handle(request, response, callback);
      }
      response.setStatus(403);
      response.write(true, ByteBuffer.wrap(fact.getBytes(StandardCharsets.UTF_8)), callback);
      return true;
    }
  }
}
