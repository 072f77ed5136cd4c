import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject,
  type SyntheticEvent,
} from 'react';
import { errorText } from '../api/errors';
import { formatPercent } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { fileName } from '../ui/fileKinds';
import { foldText, type PdfDocument } from './pdfDocument';

const words = viewerTexts.pdf;
const STEP = 1.25;
const [SMALLEST, LARGEST] = [0.1, 8];
/** On each side of a page. */
const MARGIN = 12;

/** A document, of which one page is drawn. */
export function PdfPages({ path, pdf }: { path: string; pdf: PdfDocument }) {
  const frame = useRef<HTMLDivElement>(null);
  const [page, setPage] = useState(1);
  const [zoom, setZoom] = useState<number | null>(null);
  const search = useSearch(pdf, page, setPage);
  const { scale, failure } = useDrawnPage(frame, pdf, page, zoom, search.text);
  const go = (to: number) => {
    setPage(Math.min(Math.max(1, to), pdf.pages));
    frame.current?.scrollTo(0, 0);
  };
  const zoomBy = (by: number) => setZoom(Math.min(LARGEST, Math.max(SMALLEST, scale * by)));
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      PageDown: () => go(page + 1),
      PageUp: () => go(page - 1),
      Home: () => go(1),
      End: () => go(pdf.pages),
      '+': () => zoomBy(STEP),
      '=': () => zoomBy(STEP),
      '-': () => zoomBy(1 / STEP),
      f: () => setZoom(null),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div className="pdf">
      <div
        ref={frame}
        className="frame"
        role="group"
        aria-label={fileName(path)}
        aria-description={words.help}
        tabIndex={0}
        onKeyDown={onKey}
      />
      <div className="controls" role="toolbar" aria-label={fileName(path)}>
        <PageButtons page={page} pages={pdf.pages} onGo={go} />
        <button type="button" onClick={() => zoomBy(1 / STEP)} aria-label={words.zoomOut}>
          −
        </button>
        <span className="zoom" aria-hidden="true">
          {formatPercent(scale)}
        </span>
        <button type="button" onClick={() => zoomBy(STEP)} aria-label={words.zoomIn}>
          +
        </button>
        <button type="button" onClick={() => setZoom(null)}>
          {words.fit}
        </button>
        <form className="seek" role="search" onSubmit={search.submit}>
          <input
            type="search"
            aria-label={words.find}
            placeholder={words.find}
            value={search.typed}
            onChange={(event) => search.type(event.target.value)}
          />
          <button type="submit" disabled={!search.typed.trim()}>
            {words.findNext}
          </button>
        </form>
        <span role="status" className={failure ? 'failure' : 'faint'}>
          {failure || search.message}
        </span>
      </div>
    </div>
  );
}

function PageButtons(props: { page: number; pages: number; onGo: (page: number) => void }) {
  const { page, pages, onGo } = props;
  return (
    <>
      <button
        type="button"
        aria-label={words.previous}
        disabled={page <= 1}
        onClick={() => onGo(page - 1)}
      >
        ‹
      </button>
      <input
        // Another page is another field, in which nothing is typed.
        key={page}
        className="number"
        inputMode="numeric"
        aria-label={words.page}
        defaultValue={page}
        onKeyDown={({ key, currentTarget }) => {
          const to = Number(currentTarget.value);
          if (key === 'Enter' && Number.isInteger(to)) onGo(to);
        }}
      />
      <span>{words.ofPages(pages)}</span>
      <button
        type="button"
        aria-label={words.next}
        disabled={page >= pages}
        onClick={() => onGo(page + 1)}
      >
        ›
      </button>
    </>
  );
}

/** Draws a page in its place, with the texts that are searched for marked. */
function useDrawnPage(
  frame: RefObject<HTMLElement | null>,
  pdf: PdfDocument,
  page: number,
  zoom: number | null,
  text: string,
) {
  const [width, setWidth] = useState(0);
  const [scale, setScale] = useState(1);
  const [failure, setFailure] = useState('');
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    // With its bar, which comes and goes with the zoom.
    const observer = new ResizeObserver(() => setWidth(element.offsetWidth - 2 * MARGIN));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  useEffect(() => {
    if (width <= 0) return;
    let isCurrent = true;
    pdf.draw(page, zoom, width).then(
      (drawn) => {
        if (!isCurrent) return;
        frame.current?.replaceChildren(drawn.element);
        setScale(drawn.scale);
        setFailure('');
        const wanted = foldText(text);
        const matches = drawn.texts.filter(
          ({ textContent }) => wanted && foldText(textContent).includes(wanted),
        );
        for (const element of matches) element.classList.add('found');
        matches[0]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      },
      () => isCurrent && setFailure(words.broken),
    );
    return () => {
      isCurrent = false;
    };
  }, [frame, pdf, page, zoom, width, text]);
  return { scale, failure };
}

/** Searches a document page by page, from the one that is shown. */
function useSearch(pdf: PdfDocument, page: number, onFind: (page: number) => void) {
  const [typed, setTyped] = useState('');
  const [text, setText] = useState('');
  const [message, setMessage] = useState('');
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    running.current?.abort();
    const ending = new AbortController();
    running.current = ending;
    // The same text again: on the pages after the one that has it.
    const from = typed === text ? page + 1 : page;
    const onPage = (at: number) => setMessage(words.searching(at, pdf.pages));
    pdf.find(typed, from, ending.signal, onPage).then(
      (at) => {
        if (ending.signal.aborted) return;
        setText(typed);
        setMessage(at === null ? words.nothing : words.foundOn(at));
        if (at !== null) onFind(at);
      },
      (error: unknown) => {
        if (!ending.signal.aborted) setMessage(errorText(error));
      },
    );
  };
  const type = (next: string) => {
    setTyped(next);
    setMessage('');
    if (!next) setText('');
  };
  return { typed, text, message, type, submit };
}
