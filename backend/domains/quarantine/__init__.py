"""Object versions in which a malware scan found a threat: nobody reads them through the product."""
