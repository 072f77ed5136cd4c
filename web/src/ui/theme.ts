export type Theme = 'auto' | 'light' | 'dark';
const NAME = 'vitrine-theme';

// A cookie and not storage: the choice is not the user's data, and outlives a sign-out.
export function chosenTheme(): Theme {
  const theme = /(?:^|; )vitrine-theme=(light|dark)/.exec(document.cookie)?.[1];
  return theme === 'light' || theme === 'dark' ? theme : 'auto';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function chooseTheme(theme: Theme): void {
  const age = theme === 'auto' ? 0 : 31_536_000;
  document.cookie = `${NAME}=${theme}; path=/ui/; max-age=${age}; samesite=strict`;
  applyTheme(theme);
}
