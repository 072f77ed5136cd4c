"""Code that every slice uses, independent of AWS and HTTP: errors, identity, permissions, pages."""
