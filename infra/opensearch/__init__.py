"""A real OpenSearch node with k-NN on this machine, assembled from Maven Central and run on Java alone."""
