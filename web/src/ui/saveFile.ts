/** Saves a file that the page has made. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser needs the address until it starts to write.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
