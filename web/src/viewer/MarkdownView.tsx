import Markdown, { type Components } from 'react-markdown';
import gfm from 'remark-gfm';
import { viewerTexts } from '../texts/viewer';
import { highlight } from './highlight';
import type { ViewProps } from './Poster';
import { TextStage } from './TextStage';

const PLUGINS = [gfm];
/** A line in 100 quotes or lists: the time to parse one grows by the square of their number. */
const NESTED = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])){100}/m;

const COMPONENTS: Components = {
  // Below the headings of the page.
  h1: 'h3',
  h2: 'h4',
  h3: 'h5',
  h4: 'h6',
  h5: 'h6',
  // Addresses within the asset would lead to pages that do not exist.
  a: ({ href = '', children }) =>
    /^(https?|mailto):/.test(href) ? (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    ) : (
      <>{children}</>
    ),
  // The policy of the page lets it load no pictures of other origins.
  img: ({ alt }) => <em>{alt}</em>,
  input: ({ checked }) => <>{checked ? '☑ ' : '☐ '}</>,
  code: ({ className, children }) => {
    const [, language] = /language-(\w+)/.exec(className ?? '') ?? [];
    return (
      <code>
        {language && typeof children === 'string'
          ? highlight(children, language.toLowerCase())
          : children}
      </code>
    );
  },
};

/** Markdown, whose raw HTML is shown as text. */
export const MarkdownView = (props: ViewProps) => (
  <TextStage
    {...props}
    render={(text) =>
      NESTED.test(text) ? (
        <>
          <pre>{text}</pre>
          <p className="faint">{viewerTexts.nestedText}</p>
        </>
      ) : (
        <div className="prose">
          <Markdown remarkPlugins={PLUGINS} components={COMPONENTS}>
            {text}
          </Markdown>
        </div>
      )
    }
  />
);
