// The browser of the tests: CHROMIUM, else the npm package on x64 Linux, else one on the path.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { chromium } from '@playwright/test';

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

/** The libraries of the package, unpacked: machines without a desktop lack them. */
function libraries(folder) {
  const packed = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const input = brotliDecompressSync(
    readFileSync(join(dirname(packed), '../../bin/al2023.tar.br')),
  );
  const target = join(folder, 'al2023');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-x', '-C', target], { input });
  return join(target, 'lib');
}

/** The package's own arguments are left out: some switch off what the tests check. */
async function packaged() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const { default: chromiumPackage } = await import('@sparticuz/chromium');
  const executablePath = await chromiumPackage.executablePath();
  const folder = dirname(executablePath);
  // Without a locale of UTF-8 it saves files with other letters as "download"; this one is everywhere.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  if (/not found/.test(execFileSync('ldd', [executablePath], { encoding: 'utf8' }))) {
    env.LD_LIBRARY_PATH = [libraries(folder), env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  }
  if (!existsSync('/etc/fonts')) env.FONTCONFIG_PATH ??= join(folder, 'fonts');
  return { executablePath, env };
}

/** What Playwright is to launch. */
export async function launchOptions() {
  const path = process.env.CHROMIUM;
  const options = path
    ? { executablePath: path }
    : ((await packaged()) ?? { executablePath: onPath() });
  if (!options.executablePath) {
    throw new Error(
      'No Chromium: set CHROMIUM to the path of one, or install the package chromium',
    );
  }
  return { ...options, args: SOFTWARE };
}

export const launch = async () => chromium.launch(await launchOptions());
