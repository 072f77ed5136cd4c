import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestHeaderDefinition;
import org.opensearch.rest.RestRequest;
import org.opensearch.transport.client.node.NodeClient;

/** A plugin of OpenSearch that puts the rules of Loopback before every request. */
public final class LoopbackGuard extends Plugin implements ActionPlugin {
  @Override
  public UnaryOperator<RestHandler> getRestHandlerWrapper(
      ThreadContext context, Set<RestHeaderDefinition> headers) {
    return Guarded::new;
  }

  private static final class Guarded extends RestHandler.Wrapper {
    private final RestHandler handler;

    Guarded(RestHandler handler) {
      super(handler);
      this.handler = handler;
    }

    @Override
    public void handleRequest(RestRequest request, RestChannel channel, NodeClient client)
        throws Exception {
      var fact =
          Loopback.refusal(
              request.getHttpRequest().uri(),
              values(request, "Host"),
              values(request, "Origin"),
              values(request, "Sec-Fetch-Site"));
      if (fact == null) {
        handler.handleRequest(request, channel, client);
      } else {
        channel.sendResponse(
            new BytesRestResponse(RestStatus.FORBIDDEN, "text/plain; charset=UTF-8", fact));
      }
    }

    private static List<String> values(RestRequest request, String name) {
      var found = request.getAllHeaderValues(name);
      return found == null ? List.of() : found;
    }
  }
}
