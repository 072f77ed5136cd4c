// The browser of the tests: CHROMIUM, else the npm package on x64 Linux, else one on the path.
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { chromium } from 'playwright-core';

const SOFTWARE = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

function onPath() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      continue; // the next name
    }
  }
  return null;
}

async function packaged() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const { default: found } = await import('@sparticuz/chromium');
  const executablePath = await found.executablePath();
  const libraries = [dirname(executablePath), '/tmp/al2023/lib', process.env.LD_LIBRARY_PATH];
  const LD_LIBRARY_PATH = libraries.filter(Boolean).join(':');
  return { executablePath, args: found.args, env: { ...process.env, LD_LIBRARY_PATH } };
}

export async function launch() {
  const given = process.env.CHROMIUM;
  const path = given ?? null;
  const options = path
    ? { executablePath: path }
    : ((await packaged()) ?? { executablePath: onPath() });
  if (!options.executablePath) {
    throw new Error(
      'No Chromium: set CHROMIUM to the path of one, or install the package chromium',
    );
  }
  return chromium.launch({ ...options, args: [...(options.args ?? []), ...SOFTWARE] });
}
