"""Operations on uploads: start, renew, get, complete, abort."""

from backend.domains.uploads.service.commands import (
    PreparedUpload,
    UploadLimits,
    UploadService,
)
from backend.domains.uploads.service.context import UploadContext
from backend.domains.uploads.service.deposits import (
    Deposit,
    Deposited,
    DepositPlace,
    Deposits,
)
from backend.domains.uploads.service.large_files import LargeFiles
from backend.domains.uploads.service.renewal import RenewalService
from backend.domains.uploads.service.results import Completed, summary
from backend.domains.uploads.service.settlement import Settlement
from backend.domains.uploads.service.waiting_previews import WaitingPreviews

__all__ = [
    "Completed",
    "Deposit",
    "DepositPlace",
    "Deposited",
    "Deposits",
    "LargeFiles",
    "PreparedUpload",
    "RenewalService",
    "Settlement",
    "UploadContext",
    "UploadLimits",
    "UploadService",
    "WaitingPreviews",
    "summary",
]
