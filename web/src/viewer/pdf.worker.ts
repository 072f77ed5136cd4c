// The part of pdf.js that reads documents, as a script of the page's own origin.
import 'pdfjs-dist/build/pdf.worker.min.mjs';
