import {
  getDocument,
  PasswordException,
  PDFWorker,
  TextLayer,
  version,
  type PDFDocumentProxy,
} from 'pdfjs-dist';
import { viewerTexts } from '../texts/viewer';

const words = viewerTexts.pdf;
/** Fonts, tables of letters and decoders that documents may need, as the build copies them. */
const FILES = `${new URL(import.meta.env.BASE_URL, location.href).href}assets/pdf-${version}/`;
/** Browsers draw no larger canvas, and phones have no memory for it. */
const MOST_PIXELS = 16_000_000;

export interface PdfPage {
  element: HTMLElement;
  /** How large it is drawn; 1 is a point a pixel. */
  scale: number;
  /** Its texts, as they lie above the picture. */
  texts: readonly HTMLElement[];
}

/** A PDF, which is read in a worker: no script of it runs, and it requests nothing. */
export class PdfDocument {
  private constructor(
    private readonly document: PDFDocumentProxy,
    readonly close: () => void,
  ) {}

  get pages(): number {
    return this.document.numPages;
  }

  /** Throws a sentence for a document that cannot be read. */
  static async open(data: ArrayBuffer): Promise<PdfDocument> {
    const port = new Worker(new URL('./pdf.worker.ts', import.meta.url), { type: 'module' });
    const worker = PDFWorker.create({ port });
    const loading = getDocument({
      data,
      worker,
      wasmUrl: `${FILES}wasm/`,
      cMapUrl: `${FILES}cmaps/`,
      standardFontDataUrl: `${FILES}standard_fonts/`,
      // Forms of XML are another kind of document.
      enableXfa: false,
      canvasMaxAreaInBytes: 4 * MOST_PIXELS,
      verbosity: 0,
    });
    const close = () => {
      void loading.destroy().finally(() => {
        worker.destroy();
        port.terminate();
      });
    };
    try {
      return new PdfDocument(await loading.promise, close);
    } catch (error) {
      close();
      throw new Error(error instanceof PasswordException ? words.locked : words.broken);
    }
  }

  /** Draws a page; without a zoom, as wide as its place. */
  async draw(number: number, zoom: number | null, width: number): Promise<PdfPage> {
    const page = await this.document.getPage(number);
    const scale = zoom ?? width / page.getViewport({ scale: 1 }).width;
    const viewport = page.getViewport({ scale });
    const area = viewport.width * viewport.height;
    const ratio = Math.min(devicePixelRatio, Math.sqrt(MOST_PIXELS / area));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.floor(viewport.width * ratio));
    canvas.height = Math.max(1, Math.floor(viewport.height * ratio));
    await page.render({ canvas, viewport, transform: [ratio, 0, 0, ratio, 0, 0] }).promise;
    const container = document.createElement('div');
    container.className = 'texts';
    const layer = new TextLayer({
      textContentSource: page.streamTextContent(),
      container,
      viewport,
    });
    await layer.render();
    page.cleanup();
    const element = document.createElement('div');
    element.className = 'page';
    element.style.width = `${viewport.width}px`;
    element.style.height = `${viewport.height}px`;
    element.style.setProperty('--total-scale-factor', String(scale));
    element.append(canvas, container);
    return { element, scale, texts: layer.textDivs };
  }

  async textOf(number: number): Promise<string> {
    const page = await this.document.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return items
      .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? ' ' : ''}` : ''))
      .join('');
  }

  /** The next page with a text, from one on and then from the first; null if there is none. */
  async find(
    text: string,
    from: number,
    signal: AbortSignal,
    onPage: (page: number) => void,
  ): Promise<number | null> {
    const wanted = foldText(text);
    for (let step = 0; step < this.pages; step += 1) {
      const page = ((from - 1 + step) % this.pages) + 1;
      signal.throwIfAborted();
      onPage(page);
      if (foldText(await this.textOf(page)).includes(wanted)) return page;
    }
    return null;
  }
}

/** For a search that is indifferent to case and to runs of blanks. */
export const foldText = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
