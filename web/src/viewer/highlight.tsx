import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import glsl from 'highlight.js/lib/languages/glsl';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import lua from 'highlight.js/lib/languages/lua';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { ReactElement, ReactNode } from 'react';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';

const lowlight = createLowlight({
  ...{ bash, c, cpp, css, glsl, ini, javascript, json, lua, python, sql, typescript, xml, yaml },
});
lowlight.registerAlias({ bash: ['sh'], glsl: ['hlsl'], xml: ['html', 'svg'] });

/** Above, the elements of the colours would slow the page down. */
const MOST_COLOURED = 100_000;

/** A text with the colours of its language; plain in a language that is not known. */
export function highlight(text: string, language: string): ReactNode {
  if (text.length > MOST_COLOURED || !lowlight.registered(language)) return text;
  return toJsxRuntime(lowlight.highlight(language, text), { Fragment, jsx, jsxs }) as ReactElement;
}
